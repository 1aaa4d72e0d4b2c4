# A compiled model on Inferentia2, devices mapped by hand.

variable "subnet_ids" { type = list(string) }
variable "cluster" { type = string }
variable "image" { type = string }
variable "task_role_arn" { type = string }
variable "execution_role_arn" { type = string }
variable "target_group_arn" { type = string }

data "aws_ssm_parameter" "neuron" {
  name = "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"
}

resource "aws_launch_template" "inf2" {
  name_prefix   = "inf2-"
  image_id      = data.aws_ssm_parameter.neuron.value
  instance_type = "inf2.8xlarge"
  user_data     = base64encode("#!/bin/bash\necho ECS_CLUSTER=${var.cluster} >> /etc/ecs/ecs.config\n")

  metadata_options {
    http_tokens = "required"
  }

  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size           = 200
      volume_type           = "gp3"
      encrypted             = true
      delete_on_termination = true
    }
  }
}

resource "aws_autoscaling_group" "inf2" {
  name_prefix           = "inf2-"
  min_size              = 1
  max_size              = 4
  vpc_zone_identifier   = var.subnet_ids
  protect_from_scale_in = true

  launch_template {
    id      = aws_launch_template.inf2.id
    version = aws_launch_template.inf2.latest_version
  }
}

resource "aws_ecs_capacity_provider" "inf2" {
  name = "inf2"
  auto_scaling_group_provider {
    auto_scaling_group_arn         = aws_autoscaling_group.inf2.arn
    managed_termination_protection = "ENABLED"
    managed_scaling {
      status          = "ENABLED"
      target_capacity = 100
    }
  }
}

resource "aws_cloudwatch_log_group" "embed" {
  name              = "/ecs/embed"
  retention_in_days = 30
}

resource "aws_ecs_task_definition" "embed" {
  family                   = "embed-neuron"
  requires_compatibilities = ["EC2"]
  network_mode             = "awsvpc"
  task_role_arn            = var.task_role_arn
  execution_role_arn       = var.execution_role_arn

  placement_constraints {
    type       = "memberOf"
    expression = "attribute:ecs.instance-type == inf2.8xlarge"
  }

  container_definitions = jsonencode([{
    name         = "embed"
    image        = var.image
    essential    = true
    cpu          = 28672
    memory       = 114688
    command      = ["serve", "--compiled-model", "s3://example-models/embed/neuron/v7/"]
    portMappings = [{ containerPort = 8080 }]
    linuxParameters = {
      initProcessEnabled = true
      devices = [{
        hostPath      = "/dev/neuron0"
        containerPath = "/dev/neuron0"
        permissions   = ["read", "write"]
      }]
      capabilities = { add = ["IPC_LOCK"] }
    }
    stopTimeout = 60
    logConfiguration = {
      logDriver = "awslogs"
      options = {
        "awslogs-group"         = aws_cloudwatch_log_group.embed.name
        "awslogs-region"        = "us-west-2"
        "awslogs-stream-prefix" = "embed"
      }
    }
  }])
}

resource "aws_ecs_service" "embed" {
  name                               = "embed"
  cluster                            = var.cluster
  task_definition                    = aws_ecs_task_definition.embed.arn
  desired_count                      = 1
  health_check_grace_period_seconds  = 600
  deployment_minimum_healthy_percent = 0
  deployment_maximum_percent         = 100

  capacity_provider_strategy {
    capacity_provider = aws_ecs_capacity_provider.inf2.name
    weight            = 1
  }

  network_configuration {
    subnets = var.subnet_ids
  }

  load_balancer {
    target_group_arn = var.target_group_arn
    container_name   = "embed"
    container_port   = 8080
  }
}
