variable "cluster_name" { type = string }
variable "infrastructure_role_arn" { type = string }
variable "instance_profile_arn" { type = string }
variable "subnet_ids" { type = list(string) }
variable "security_group_ids" { type = list(string) }
variable "image" { type = string }

resource "aws_ecs_capacity_provider" "gpu" {
  name    = "gpu-managed"
  cluster = var.cluster_name

  managed_instances_provider {
    infrastructure_role_arn = var.infrastructure_role_arn
    propagate_tags          = "CAPACITY_PROVIDER"

    instance_launch_template {
      ec2_instance_profile_arn = var.instance_profile_arn
      monitoring               = "DETAILED"

      network_configuration {
        subnets         = var.subnet_ids
        security_groups = var.security_group_ids
      }
      storage_configuration { storage_size_gib = 200 }

      instance_requirements {
        allowed_instance_types = ["g6.2xlarge"]
        vcpu_count { min = 8 }
        memory_mib { min = 32768 }
      }
    }
  }
}

resource "aws_ecs_task_definition" "transcribe" {
  family                   = "transcribe"
  requires_compatibilities = ["MANAGED_INSTANCES"]
  network_mode             = "awsvpc"
  cpu                      = "6144"
  memory                   = "24576"
  container_definitions = jsonencode([{
    name                 = "whisper"
    image                = var.image
    essential            = true
    resourceRequirements = [{ type = "GPU", value = "1" }]
    portMappings         = [{ containerPort = 9000 }]
    logConfiguration = {
      logDriver = "awslogs"
      options   = { awslogs-group = "/ecs/transcribe", awslogs-region = "eu-central-1", awslogs-stream-prefix = "w" }
    }
  }])
}

resource "aws_ecs_service" "transcribe" {
  name            = "transcribe"
  cluster         = var.cluster_name
  task_definition = aws_ecs_task_definition.transcribe.arn
  desired_count   = 1
  capacity_provider_strategy {
    capacity_provider = aws_ecs_capacity_provider.gpu.name
    weight            = 1
  }
  network_configuration {
    subnets         = var.subnet_ids
    security_groups = var.security_group_ids
  }
}
