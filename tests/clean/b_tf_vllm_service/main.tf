terraform {
  required_version = ">= 1.6"
  required_providers {
    aws = { source = "hashicorp/aws", version = "~> 6.0" }
  }
}

data "aws_ssm_parameter" "gpu_ami" {
  name = "/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id"
}

locals {
  name = "${var.project}-${var.environment}"
  tags = merge(var.tags, { Project = var.project, Environment = var.environment })
}

resource "aws_ecs_cluster" "this" {
  name = local.name
  setting {
    name  = "containerInsights"
    value = "enhanced"
  }
  tags = local.tags
}

resource "aws_launch_template" "gpu" {
  name_prefix            = "${local.name}-g5-"
  image_id               = data.aws_ssm_parameter.gpu_ami.value
  instance_type          = "g5.12xlarge"
  vpc_security_group_ids = [aws_security_group.hosts.id]
  update_default_version = true

  iam_instance_profile { arn = var.instance_profile_arn }

  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size = 200
      volume_type = "gp3"
      encrypted   = true
    }
  }

  user_data = base64encode(templatefile("${path.module}/user_data.sh.tftpl", {
    cluster = aws_ecs_cluster.this.name
  }))
}

resource "aws_autoscaling_group" "gpu" {
  name                  = "${local.name}-gpu"
  min_size              = 0
  max_size              = 4
  vpc_zone_identifier   = var.private_subnet_ids
  protect_from_scale_in = true

  launch_template {
    id      = aws_launch_template.gpu.id
    version = "$Latest"
  }

  tag {
    key                 = "AmazonECSManaged"
    value               = "true"
    propagate_at_launch = true
  }

  lifecycle { ignore_changes = [desired_capacity] }
}

resource "aws_ecs_capacity_provider" "gpu" {
  name = "${local.name}-g5"
  auto_scaling_group_provider {
    auto_scaling_group_arn         = aws_autoscaling_group.gpu.arn
    managed_termination_protection = "ENABLED"
    managed_draining               = "ENABLED"
    managed_scaling {
      status                 = "ENABLED"
      target_capacity        = 100
      instance_warmup_period = 300
    }
  }
}

resource "aws_ecs_cluster_capacity_providers" "this" {
  cluster_name       = aws_ecs_cluster.this.name
  capacity_providers = [aws_ecs_capacity_provider.gpu.name]
  default_capacity_provider_strategy {
    capacity_provider = aws_ecs_capacity_provider.gpu.name
    weight            = 1
  }
}

resource "aws_security_group" "hosts" {
  name_prefix = "${local.name}-hosts-"
  vpc_id      = var.vpc_id
  egress {
    from_port   = 0
    to_port     = 0
    protocol    = "-1"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_security_group" "server" {
  name_prefix = "${local.name}-server-"
  vpc_id      = var.vpc_id
}

resource "aws_vpc_security_group_ingress_rule" "from_lb" {
  security_group_id            = aws_security_group.server.id
  referenced_security_group_id = aws_security_group.lb.id
  from_port                    = 8000
  to_port                      = 8000
  ip_protocol                  = "tcp"
}

resource "aws_security_group" "lb" {
  name_prefix = "${local.name}-lb-"
  vpc_id      = var.vpc_id
  ingress {
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = var.client_cidrs
  }
}

resource "aws_cloudwatch_log_group" "server" {
  name              = "/ecs/${local.name}/server"
  retention_in_days = 30
}

resource "aws_ecs_task_definition" "server" {
  family                   = "${local.name}-server"
  requires_compatibilities = ["EC2"]
  network_mode             = "awsvpc"
  execution_role_arn       = aws_iam_role.execution.arn
  task_role_arn            = aws_iam_role.task.arn

  placement_constraints {
    type       = "memberOf"
    expression = "attribute:ecs.instance-type == g5.12xlarge"
  }

  volume {
    name      = "models"
    host_path = "/opt/models"
  }

  container_definitions = jsonencode([{
    name                 = "vllm"
    image                = "${var.image_repository}@${var.image_digest}"
    essential            = true
    cpu                  = 40960
    memory               = 163840
    resourceRequirements = [{ type = "GPU", value = "4" }]
    command = [
      "--model", "/models/llama-3.1-70b-awq",
      "--tensor-parallel-size", "4",
      "--max-model-len", "8192",
      "--port", "8000",
    ]
    portMappings    = [{ containerPort = 8000, protocol = "tcp" }]
    mountPoints     = [{ sourceVolume = "models", containerPath = "/models", readOnly = true }]
    secrets         = [{ name = "VLLM_API_KEY", valueFrom = var.api_key_secret_arn }]
    linuxParameters = { sharedMemorySize = 16384, initProcessEnabled = true }
    stopTimeout     = 90
    healthCheck = {
      command     = ["CMD-SHELL", "curl -sf http://localhost:8000/health || exit 1"]
      interval    = 30
      timeout     = 5
      retries     = 3
      startPeriod = 300
    }
    logConfiguration = {
      logDriver = "awslogs"
      options = {
        awslogs-group         = aws_cloudwatch_log_group.server.name
        awslogs-region        = var.region
        awslogs-stream-prefix = "vllm"
        mode                  = "non-blocking"
        max-buffer-size       = "25m"
      }
    }
  }])
}

resource "aws_lb" "this" {
  name               = local.name
  internal           = true
  load_balancer_type = "application"
  security_groups    = [aws_security_group.lb.id]
  subnets            = var.private_subnet_ids
  idle_timeout       = 300
}

resource "aws_lb_target_group" "vllm" {
  name                 = "${local.name}-vllm"
  port                 = 8000
  protocol             = "HTTP"
  target_type          = "ip"
  vpc_id               = var.vpc_id
  deregistration_delay = 60
  health_check {
    path                = "/health"
    interval            = 15
    unhealthy_threshold = 3
    matcher             = "200"
  }
}

resource "aws_lb_listener" "https" {
  load_balancer_arn = aws_lb.this.arn
  port              = 443
  protocol          = "HTTPS"
  certificate_arn   = var.certificate_arn
  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.vllm.arn
  }
}

resource "aws_ecs_service" "server" {
  name                               = "vllm"
  cluster                            = aws_ecs_cluster.this.id
  task_definition                    = aws_ecs_task_definition.server.arn
  desired_count                      = 2
  health_check_grace_period_seconds  = 900
  deployment_minimum_healthy_percent = 50
  deployment_maximum_percent         = 100

  capacity_provider_strategy {
    capacity_provider = aws_ecs_capacity_provider.gpu.name
    weight            = 1
    base              = 1
  }
  network_configuration {
    subnets         = var.private_subnet_ids
    security_groups = [aws_security_group.server.id]
  }
  load_balancer {
    target_group_arn = aws_lb_target_group.vllm.arn
    container_name   = "vllm"
    container_port   = 8000
  }
  deployment_circuit_breaker {
    enable   = true
    rollback = true
  }
}

resource "aws_iam_role" "task" {
  name               = "${local.name}-task"
  assume_role_policy = data.aws_iam_policy_document.tasks.json
}

resource "aws_iam_role" "execution" {
  name               = "${local.name}-execution"
  assume_role_policy = data.aws_iam_policy_document.tasks.json
}

data "aws_iam_policy_document" "tasks" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["ecs-tasks.amazonaws.com"]
    }
    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [var.account_id]
    }
  }
}
